# What of C99's complex numbers numpy asks of the C runtime for and wine 8's has not.
# A complex double (16 bytes) comes by its address in rcx, a complex float (8 bytes) in rcx itself.
.text
.globl DllMainCRTStartup, creal, cimag, carg, cabs, crealf, cimagf, cargf, cabsf, creall, cimagl, cargl, cabsl
DllMainCRTStartup:
 movl $1, %eax
 ret
creal:
creall:
 movsd (%rcx), %xmm0
 ret
cimag:
cimagl:
 movsd 8(%rcx), %xmm0
 ret
carg:
cargl:
 movsd 8(%rcx), %xmm0
 movsd (%rcx), %xmm1
 jmp *__imp_atan2(%rip)
cabs:
cabsl:
 movsd (%rcx), %xmm0
 movsd 8(%rcx), %xmm1
 jmp *__imp_hypot(%rip)
crealf:
 movd %ecx, %xmm0
 ret
cimagf:
 shrq $32, %rcx
 movd %ecx, %xmm0
 ret
cargf:
 movd %ecx, %xmm1
 shrq $32, %rcx
 movd %ecx, %xmm0
 jmp *__imp_atan2f(%rip)
cabsf:
 movd %ecx, %xmm0
 shrq $32, %rcx
 movd %ecx, %xmm1
 jmp *__imp__hypotf(%rip)
