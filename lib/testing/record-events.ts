/** What the site under test says on its diagnostics channels meanwhile: it runs in the process of the test. */
import diagnostics from 'node:diagnostics_channel'

/** What is read of a message. */
export interface RecordedEvents {
  readonly outcome: string
  readonly reason: string | undefined
}

/** Runs something and gives what it came to, with the messages of one channel since its beginning. */
export async function recordEvents<T>(
  name: string,
  run: () => Promise<T>,
): Promise<{ result: T; heard: RecordedEvents[] }> {
  const heard: RecordedEvents[] = []
  const listen = (message: unknown) => heard.push(read(message))
  diagnostics.subscribe(`express-sso2:${name}`, listen)
  try {
    return { result: await run(), heard }
  } finally {
    diagnostics.unsubscribe(`express-sso2:${name}`, listen)
  }
}

function read(message: unknown): RecordedEvents {
  const fields: { outcome?: unknown; reason?: unknown } = typeof message === 'object' && message !== null ? message : {}
  const { outcome, reason } = fields
  return { outcome: String(outcome), reason: typeof reason === 'string' ? reason : undefined }
}
