/* Not aclnnExp(), no asm("nop"), no vnpu_submit, no __sanitizer_cov: a note on what this kernel does not do. */
#ifndef CORPUS_EXP_NOTES_H
#define CORPUS_EXP_NOTES_H

// aclopExecute would be another way; PITON_ANYTHING is nobody's business.

#endif  // CORPUS_EXP_NOTES_H
