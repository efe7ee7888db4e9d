/* Loading this library registers the operators with torch; the module itself is empty. */
#include <Python.h>

extern "C" PyObject *PyInit__C(void) {
    static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
    return PyModule_Create(&module);
}
