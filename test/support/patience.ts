/*
 * A busy machine keeps Redis back. Tests ask what happens and not how soon, so a command of Redis has 20 times its usual time (patient.ts).
 * While a test itself keeps Redis back (`hang`, `stop`, `stall` and others), a command has its usual time.
 */
let times = 20
export const patience = () => times

export function waitPatiently(isPatient: boolean): void {
  times = isPatient ? 20 : 1
}
