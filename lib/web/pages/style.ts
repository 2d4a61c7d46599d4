/** The style sheet of the built-in pages: inline, and named by its hash in their Content-Security-Policy. */
import { createHash } from 'node:crypto'
import { accentOf, TEXT_CONTRAST } from '../../decide/contrast'

/** Default of `brand.color`. */
export const DEFAULT_COLOR = '#17477a'

/** Colours without regard to the colour of the site. */
export const SCHEMES = {
  light: {
    ink: '#1c1b1a',
    muted: '#5d5954',
    paper: '#f6f4f0',
    card: '#ffffff',
    line: '#8a857d',
    hair: '#e4e0d9',
    bad: '#9b1c1c',
    'bad-paper': '#fdeeee',
  },
  dark: {
    ink: '#f1efec',
    muted: '#b9b4ac',
    paper: '#171615',
    card: '#222120',
    line: '#8b867e',
    hair: '#3a3835',
    bad: '#ffb4ab',
    'bad-paper': '#3b1c1a',
  },
} as const

/** Contrast of links. In the dark scheme, links of minimal contrast look disabled. */
const LINK_CONTRAST = { light: TEXT_CONTRAST, dark: 6.5 } as const

/** Returns all colours of a scheme, by the names of their CSS custom properties. */
export function colorsOf(scheme: keyof typeof SCHEMES, color: string): Readonly<Record<string, string>> {
  const { paper, card } = SCHEMES[scheme]
  const { brand, onBrand, brandEdge, link } = accentOf(color, [paper, card], LINK_CONTRAST[scheme])
  return { ...SCHEMES[scheme], brand, 'on-brand': onBrand, 'brand-edge': brandEdge, link }
}

const RULES = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.5rem;padding:2rem 1rem;background:var(--paper);color:var(--ink);font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
.brand{max-width:100%;text-align:center}
.brand a{display:inline-block;max-width:100%;color:var(--ink);font-size:1.5rem;font-weight:700;line-height:1.25;letter-spacing:-.01em;text-decoration:none;border-radius:.375rem}
.brand .logo{display:block;width:18rem}
.brand img{display:block;max-width:min(100%,18rem);max-height:4rem;margin:0 auto}
@media (prefers-color-scheme:dark){.brand img{color-scheme:light;background:#fff;padding:.5rem .75rem;border-radius:.375rem}}
main{width:100%;max-width:26rem;padding:2rem 1.75rem;background:var(--card);border-top:.25rem solid var(--brand);border-radius:.5rem;box-shadow:0 1px 3px #0003,0 8px 24px #00000014}
h1{margin:0 0 1.25rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1rem}
label{display:block;margin:1rem 0 .25rem;font-weight:600}
input{width:100%;min-height:3rem;padding:.625rem .75rem;border:1px solid var(--line);border-radius:.375rem;background:transparent;color:inherit;font:inherit}
button{width:100%;min-height:3rem;margin-top:1.5rem;padding:.75rem 1rem;border:1px solid var(--brand-edge);border-radius:.375rem;background:var(--brand);color:var(--on-brand);font:inherit;font-weight:600;cursor:pointer}
button:hover{box-shadow:inset 0 0 0 2px var(--on-brand)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.alert{padding:.75rem 1rem;border-left:.25rem solid var(--bad);border-radius:.25rem;background:var(--bad-paper);color:var(--bad)}
.alert:focus{outline:none}
.alert a{color:inherit;font-weight:600}
a{color:var(--link);text-underline-offset:.15em}
.links{margin:1.25rem 0 0;padding:0;list-style:none;text-align:center}
.links a{display:inline-block;padding:.25rem .5rem}
.links+.links{margin-top:1rem;padding-top:1rem;border-top:1px solid var(--hair)}
`

const declared = (scheme: keyof typeof SCHEMES, color: string) =>
  Object.entries(colorsOf(scheme, color))
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

/** Returns the style sheet in the site's colour. @param color `#rgb` or `#rrggbb` */
export function styleIn(color: string): string {
  return `
:root{color-scheme:light dark;${declared('light', color)}}
@media (prefers-color-scheme:dark){:root{${declared('dark', color)}}}${RULES}`
}

/** Resources that the built-in pages load, and targets of their forms. */
export interface Sources {
  readonly logoUrl: string | undefined
  readonly stylesheetUrl: string | undefined
  /** Origins that a form may redirect to, besides the origin of the page. */
  readonly formTargets: readonly string[]
}

/** Returns the origin of an address as a source of the policy. A path has the origin of the page. */
const cspSource = (address: string) => (address.startsWith('/') ? "'self'" : new URL(address).origin)

/** Returns the policy of the built-in pages. The policy allows the style sheet by its hash, the resources of the brand, and no others. */
export function contentSecurityPolicy(style: string, { logoUrl, stylesheetUrl, formTargets }: Sources): string {
  const hash = createHash('sha256').update(style).digest('base64')
  const [logo, sheet] = [logoUrl, stylesheetUrl].map((url) => (url === undefined ? [] : [cspSource(url)])) as [
    string[],
    string[],
  ]
  const rows: [directive: string, sources: readonly string[]][] = [
    ['default-src', ["'none'"]],
    ['style-src', [`'sha256-${hash}'`, ...sheet]],
    ['img-src', [...logo, ...sheet]],
    ['font-src', sheet],
    ['form-action', ["'self'", ...formTargets]],
    ['base-uri', ["'none'"]],
    ['frame-ancestors', ["'none'"]],
  ]
  return rows
    .filter(([, sources]) => sources.length > 0)
    .map(([directive, sources]) => [directive, ...new Set(sources)].join(' '))
    .join('; ')
}
