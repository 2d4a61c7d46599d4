/** Prints the findings of the doctor: as lines for people, or as one JSON object for programs. */
import type { Finding } from './doctor-finding'

/** Takes the findings in their order. */
export interface Report {
  /** @param site of which the finding is, if it is of one */
  tell(finding: Finding, site?: string): void
  /** Ends the report. @returns true if no finding was wrong */
  end(): boolean
}

const BELOW = ' '.repeat(25)
const SIGNS = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' }

/** Prints each finding at once. Lines of one heading that follow each other share a link. */
export function textReport(): Report {
  let isWell = true
  let heading: string | undefined
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  const linkUnless = (next: string | undefined) => {
    if (heading !== undefined && heading !== next)
      print(`${BELOW}See node_modules/express-sso2/docs/commands.md#${heading}`)
    heading = next
  }
  return {
    tell(finding) {
      const { state, what, says, help } = finding
      linkUnless(state === 'ok' ? undefined : headingOf(finding))
      print(`${SIGNS[state]}  ${what.padEnd(16)}  ${says}`)
      if (help !== undefined) print(`${BELOW}-> ${help}`)
      if (state === 'wrong') isWell = false
    },
    end() {
      linkUnless(undefined)
      return isWell
    },
  }
}

/** Prints one JSON object at the end. What else is written to the standard output until then, by a module, goes to standard error. */
export function jsonReport(): Report {
  const findings: object[] = []
  let ok = true
  const { write } = process.stdout
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof write
  return {
    tell(finding, site) {
      const { state, what: check, says: message, help: fix } = finding
      const docs = state === 'ok' ? undefined : `node_modules/express-sso2/docs/commands.md#${headingOf(finding)}`
      findings.push({ site, check, state, message, fix, docs })
      if (state === 'wrong') ok = false
    },
    end() {
      process.stdout.write = write
      process.stdout.write(`${JSON.stringify({ ok, findings }, undefined, 2)}\n`)
      return ok
    },
  }
}

/** Returns the anchor of a subject's heading in `docs/commands.md`. The four addresses share a heading. */
const headingOf = ({ what }: Finding): string =>
  /^(?:sso|token|api|site)Url$/.test(what) ? 'ssourl-tokenurl-apiurl-siteurl' : what.toLowerCase().replaceAll(' ', '-')
