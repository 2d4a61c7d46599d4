/**
 * Runs a command in this process, which costs no start of Node.js. @param isTerminal with colours and a line of progress
 * @returns its exit code, and what it printed
 */
export async function printed(run: () => Promise<number>, isTerminal = false) {
  const texts = { stdout: '', stderr: '' }
  const undo = (['stdout', 'stderr'] as const).map((name) => {
    const stream = process[name]
    const { isTTY } = stream
    stream.isTTY = isTerminal
    const spy = jest.spyOn(stream, 'write').mockImplementation((chunk) => {
      texts[name] += String(chunk)
      return true
    })
    return () => {
      spy.mockRestore()
      stream.isTTY = isTTY
    }
  })
  try {
    return { code: await run(), ...texts }
  } finally {
    for (const one of undo) one()
  }
}
