"""One evaluation on several machines.

Problem: a suite of fifty operators keeps one machine busy for hours, and a worker that is lost must cost neither the run nor a case.
Approach: the driver loads, plans, keeps the only journal and writes the report, as always; in place of lanes that evaluate, it has lanes that hand a case to
a worker of a crew and wait (`crew`). A worker has all that a local run has, built from one order and from parcels named by their content (`node`, `parcel`).
What starts workers is behind a protocol; Ray is one implementation of it (`ray_fleet`), and the only module that knows Ray.
Limits: the machines trust one another and whoever can reach the cluster's ports; a submission is confined on a worker exactly as it is locally.
"""
