"""Packaging of a submission as a project that a machine with an NPU builds, installs and evaluates; checked here as far as a machine without one can."""

from piton.deliver.deliver import Delivery, DeliveryRequest, deliver

__all__ = ["Delivery", "DeliveryRequest", "deliver"]
