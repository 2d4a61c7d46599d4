/* For each suite, before any module is loaded: a command of Redis has `patience()` times as long. */
jest.mock('../../lib/deadline', () => {
  const { withDeadline, ...others } = jest.requireActual<typeof import('../../lib/deadline')>('../../lib/deadline')
  const { patience } = jest.requireActual<typeof import('./patience')>('./patience')
  /** Asks again after each of the usual times, because a test may have begun to keep Redis back. */
  const withPatience = <T>(outcome: Promise<T>, ms: number, message: string, waited = 1): Promise<T> =>
    withDeadline(outcome, ms, message).catch((error: unknown) => {
      if (waited >= patience() || !(error instanceof Error && error.message === message)) throw error
      return withPatience(outcome, ms, message, waited + 1)
    })
  return { ...others, withDeadline: withPatience }
})

export {}
