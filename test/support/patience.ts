/*
 * A busy machine keeps Redis back. Tests ask what happens and not how soon, so a command of Redis has 20 times its usual time (patient.ts).
 * While a test itself keeps a server back (`hang`, `stop`, `stall` and others), a command has its usual time.
 */
const keptBack = new Set<string>()
export const patience = () => (keptBack.size > 0 ? 1 : 20)

/** @param by which server, and how it is kept back */
export const keepBack = (by: string) => void keptBack.add(by)
export const letPass = (by: string) => void keptBack.delete(by)
