/** Records the events of the site under test on the diagnostics channels. The site runs in the process of the test. */
import diagnostics from 'node:diagnostics_channel'

/** Fields of an event for the helpers. */
export interface RecordedEvents {
  readonly outcome: string
  readonly reason: string | undefined
}

/** Runs a function. Returns its result, and the events of a channel during the run. */
export async function recordEvents<T>(
  name: string,
  run: () => Promise<T>,
): Promise<{ result: T; heard: RecordedEvents[] }> {
  const heard: RecordedEvents[] = []
  const listen = (message: unknown) => heard.push(readRecordedEvents(message))
  diagnostics.subscribe(`express-sso2:${name}`, listen)
  try {
    return { result: await run(), heard }
  } finally {
    diagnostics.unsubscribe(`express-sso2:${name}`, listen)
  }
}

function readRecordedEvents(message: unknown): RecordedEvents {
  const { outcome, reason } = Object(message)
  return { outcome: String(outcome), reason: typeof reason === 'string' ? reason : undefined }
}
