/** Commands of the documentation: which test runs each, or why none does. */
import { blocksOf, headingsOf } from '../support/markdown'

/** One line of a shell block. */
export interface Identity {
  readonly file: string
  readonly line: string
  /** The heading of the second level that it stands below. */
  readonly section: string
}

const SHELLS = new Set(['sh', 'bash', 'shell', 'console'])
/** Not for users of the package, and run by its own tests or `npm run`. */
const OTHERS = new Set(['CONTRIBUTING.md', 'CHANGELOG.md'])

/** The lines of the shell blocks of a page, without comments. */
export function linesIn(file: string, text: string): Identity[] {
  if (OTHERS.has(file)) return []
  const rows = text.split('\n')
  return blocksOf(text)
    .filter(({ language }) => SHELLS.has(language))
    .flatMap(({ code, line: at }) => {
      const [last] = headingsOf(rows.slice(0, at).join('\n'))
        .filter(({ level }) => level === 2)
        .slice(-1)
      return code
        .replaceAll('\\\n', '')
        .split('\n')
        .map((line) =>
          line
            .replace(/ +# .*$/, '')
            .replace(/ {2,}/g, ' ')
            .trim(),
        )
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => ({ file, line, section: last?.title ?? '' }))
    })
}

/** test/quick-start.test.ts runs all of these, and fails where there are more than it knows. */
export const quickStart = (file: string, line: string): boolean =>
  file === 'docs/quick-start.md' || QUICK_START.has(line)

const QUICK_START = new Set([
  'npm install express-sso2 express',
  'npx express-sso2 emulator --site http://localhost:3000 --write-env .env',
  'node --env-file=.env site.mjs',
])

/** What runs a line, or why nothing does. */
export type Known = { readonly line: string } & ({ readonly test: string } | { readonly reason: string })

const curls = [
  `curl -X POST localhost:4000/_emulator/clock -H 'content-type: application/json' -d '{"advance": 361}'`,
  `curl -X POST localhost:4000/_emulator/faults -H 'content-type: application/json' -d '{"operation": "sessionstatus", "kind": "down", "times": 3}'`,
  "curl 'localhost:4000/_emulator/calls?operation=authenticate'",
]

/** Every line of the README and of docs that is not the quick start's. */
export const shellLines: readonly Known[] = [
  ...curls.map((line) => ({ line, test: 'readme.test.ts' })),
  ...[
    String.raw`printf '\nSSO2_CLIENT_SECRET=%s\nSSO2_SESSION_SECRET=%s\n' $(openssl rand -hex 32) $(openssl rand -hex 32) >> rehearsal.env`,
    'npx express-sso2 emulator --site http://localhost:3000 --write-env sso2.env',
    'node --env-file=.env --env-file=sso2.env app.mjs',
    'npx express-sso2 doctor --env-file=sso2.env',
    'openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem',
    'NODE_EXTRA_CA_CERTS=cert.pem node --env-file=rehearsal.env rehearse.mjs',
    'NODE_EXTRA_CA_CERTS=cert.pem node --env-file=rehearsal.env site.mjs',
    'NODE_EXTRA_CA_CERTS=cert.pem npx express-sso2 doctor --env-file=rehearsal.env',
  ].map((line) => ({ line, test: 'recipes.test.ts' })),
  { line: 'node examples/start.mjs minimal', test: 'examples.test.ts' },
  {
    line: 'npx esbuild site.js --bundle --platform=node --outfile=dist/site.cjs',
    reason: 'esbuild is no dependency, so this was tried by hand',
  },
  {
    line: 'npm install express-sso2 express express-session',
    reason: 'node tools/matrix does it with the packed file',
  },
  { line: 'npm ci && npm start', reason: 'node tools/matrix runs the demo, and test/browser opens its pages' },
  { line: 'node start.mjs minimal', reason: 'node tools/matrix runs each example so, outside of the repository' },
  ...[
    'npx express-sso2 examine http://localhost:3000 --quick -- node site.mjs',
    'npx express-sso2 examine --settings http://localhost:8080',
    'npx express-sso2 examine http://localhost:8080',
    'npx express-sso2 examine --list',
  ].map((line) => ({ line, test: 'examiner/sites.test.ts' })),
]
