/* An empty Python module: importing it loads the library, whose static initialisers register the operators with torch. */
#include <Python.h>

extern "C" PyObject *PyInit__C(void) {
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
    return PyModule_Create(&definition);
}
