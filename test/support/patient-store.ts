/*
 * What a store answers is asked with this, not how soon: a Redis that a busy machine keeps back is waited for. Import this file first,
 * because it changes modules that are loaded later.
 */
jest.mock('../../lib/deadline', () => {
  const { withDeadline, ...others } = jest.requireActual<typeof import('../../lib/deadline')>('../../lib/deadline')
  return {
    ...others,
    withDeadline: <T>(outcome: Promise<T>, ms: number, message: string) => withDeadline(outcome, 20 * ms, message),
  }
})

export {}
