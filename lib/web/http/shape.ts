/**
 * Express gives every request and answer another prototype than Node.js made them with. V8 in Node.js 20 and 22 then makes a
 * hidden class of its own for each property that is set on one of them, some 1 kB that outlives the request, and nothing that it
 * learns from one request serves the next: a third of an Express application's time. Objects in dictionary mode are spared that.
 */
const MARK: unique symbol = Symbol('express-sso2.shape')

const isSpared = Number(process.versions.node.split('.')[0]) >= 24

/** Puts an object whose shape V8 would track in vain into dictionary mode; nothing that can be seen of it changes. */
export const untrackShape: (object: object) => void = isSpared
  ? () => {}
  : (object: { [MARK]?: true }) => {
      object[MARK] = true
      delete object[MARK]
    }
