/* For each suite, before any module is loaded: the time that a command of Redis has is multiplied by `patience()`. */
jest.mock('../../lib/deadline', () => {
  const { withDeadline, ...others } = jest.requireActual<typeof import('../../lib/deadline')>('../../lib/deadline')
  const { patience } = jest.requireActual<typeof import('./patience')>('./patience')
  return {
    ...others,
    withDeadline: <T>(outcome: Promise<T>, ms: number, message: string) =>
      withDeadline(outcome, patience() * ms, message),
  }
})

export {}
