/*
 * A busy machine keeps Redis back. Tests ask what happens and not how soon, so a command of Redis has 20 times its usual time (patient.ts).
 * While a test itself keeps a server back (`hang`, `stop`, `stall` and others), a command has its usual time.
 */
const keptBack = new Set<number>()
export const patience = () => (keptBack.size > 0 ? 1 : 20)

export const keepBack = (port: number) => void keptBack.add(port)
export const letPass = (port: number) => void keptBack.delete(port)
