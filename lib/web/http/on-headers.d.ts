declare module 'on-headers' {
  /** Runs a listener when the head of an answer is about to be written. */
  function onHeaders(res: import('node:http').ServerResponse, listener: () => void): void
  export = onHeaders
}
