declare module 'on-headers' {
  /** Runs a listener just before the response headers are written. */
  function onHeaders(res: import('node:http').ServerResponse, listener: () => void): void
  export = onHeaders
}
