/* Sites tell their operator what is wrong. A test that breaks things on purpose looks for such lines itself; on the screen they help nobody. */
for (const level of ['warn', 'info'] as const) {
  const say = console[level].bind(console)
  console[level] = (...args: unknown[]) => {
    if (!String(args[0]).startsWith('express-sso2: ')) say(...args)
  }
}
