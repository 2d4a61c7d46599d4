/** The style sheet of the built-in pages: inline, and named by its hash in their Content-Security-Policy. */
import { createHash } from 'node:crypto'
import type { Config } from '../../config'
import { contrast, EDGE_CONTRAST, readableColor, TEXT_CONTRAST } from '../../decide/contrast'

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
    warn: '#7a4a00',
    'warn-paper': '#fff3d9',
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
    warn: '#ffd08a',
    'warn-paper': '#37280d',
  },
} as const

/** Contrast of links. In the dark scheme, links of minimal contrast look disabled. */
const LINK_CONTRAST = { light: TEXT_CONTRAST, dark: 6.5 } as const

/** Contrast with the card below which a button in the dark scheme cannot be seen. */
const SEEN_CONTRAST = 1.35

/** Returns all colours of a scheme, by the names of their CSS custom properties. @param color `#rgb` or `#rrggbb` */
export function colorsOf(scheme: keyof typeof SCHEMES, color: string): Readonly<Record<string, string>> {
  const colors = SCHEMES[scheme]
  const isSeen = scheme === 'light' || contrast(color, colors.card) >= SEEN_CONTRAST
  const brand = isSeen ? color : colors.ink
  const hasWhiteText = contrast(brand, '#ffffff') >= TEXT_CONTRAST
  const grounds = [colors.paper, colors.card]
  return {
    ...colors,
    brand,
    'on-brand': hasWhiteText ? '#ffffff' : '#000000',
    'brand-edge': readableColor(brand, grounds, EDGE_CONTRAST),
    hover: hasWhiteText ? '#00000026' : '#ffffff33', // lies over the button under the pointer, and makes its text no harder to read
    link: readableColor(brand, grounds, LINK_CONTRAST[scheme]),
  }
}

const RULES = `
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100svh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.75rem;padding:2.5rem 1rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
.brand{max-width:min(100%,26rem);text-align:center}
.brand a,h1,p:not(.alert){text-wrap:balance}
.brand a{display:block;color:var(--ink);font-size:clamp(1.5rem,6.5vw,2rem);hyphens:auto;font-weight:700;line-height:1.2;letter-spacing:-.02em;text-decoration:none;border-radius:.375rem}
.brand img{display:block;width:22rem;max-width:100%;max-height:5rem;object-fit:contain;margin:0 auto}
.by-night{display:none}
@media (prefers-color-scheme:dark){.by-day{display:none}.by-night{display:inline}}
main{width:100%;max-width:26rem;text-align:center;padding:2rem;background:var(--card);border:1px solid var(--hair);border-radius:.75rem;box-shadow:0 1px 2px #0000000d,0 12px 32px #00000012}
h1{margin:0;font-size:1.375rem;line-height:1.3;letter-spacing:-.01em}
p{margin:.5rem 0 0;text-wrap:pretty}
.field{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.375rem 1rem;margin-top:1.25rem;text-align:start}
label{font-weight:600}
.field input{order:1}
input{width:100%;min-height:3rem;padding:.625rem .75rem;border:1px solid var(--line);border-radius:.5rem;background:transparent;color:inherit;font:inherit}
button,.button{display:flex;align-items:center;justify-content:center;width:100%;min-height:3rem;padding:.6875rem 1rem;border:1px solid var(--brand-edge);border-radius:.5rem;background:var(--brand);color:var(--on-brand);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
button:hover,.button:hover{box-shadow:inset 0 0 0 9rem var(--hover)}
.button.quiet{border-color:var(--line);background:transparent;color:var(--ink)}
.button.quiet:hover{background:var(--hair);box-shadow:none}
form>button,.buttons{margin-top:1.5rem}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem}
.buttons>*{flex:1 1 auto;width:auto;margin:0}
:focus-visible{outline:2px solid var(--ink);outline-offset:2px}
input:focus-visible{outline-offset:-1px}
[aria-invalid]{border-color:var(--bad)}
.alert{display:flex;text-align:start;gap:.625rem;margin-top:1rem;padding:.75rem .875rem;border:1px solid transparent;border-radius:.5rem;font-size:.9375rem;line-height:1.45}
.alert:focus{outline:none}
.alert svg{flex:none;width:1.25rem;height:1.25rem;margin-top:.0625rem}
.alert span{min-width:0}
.alert a{color:inherit;font-weight:600}
.error{background:var(--bad-paper);color:var(--bad)}
.warning{background:var(--warn-paper);color:var(--warn)}
.notice{border-color:var(--hair);background:var(--paper)}
a{color:var(--link);text-underline-offset:.2em}
.field a,footer a{color:var(--muted);font-size:.875rem;text-decoration:none}
.field a:hover,footer a:hover{text-decoration:underline}
.new{margin-top:1.5rem;padding-top:1.25rem;border-top:1px solid var(--hair)}
footer{display:flex;flex-wrap:wrap;justify-content:center;gap:0 1.5rem;text-align:center}
footer a,.field a{padding:.25rem 0}
@media (max-width:30rem){
body{justify-content:flex-start;padding:2rem 1.25rem;background:var(--card)}
main{padding:0;border:0;border-radius:0;background:none;box-shadow:none}
.brand img{width:16rem;max-height:4rem}
footer a{padding:.625rem 0}
}
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

/** Returns the policy of the built-in pages. It allows the style sheet by its hash, the resources of the brand, and no others. */
export function contentSecurityPolicy(style: string, { brand, ssoUrl, returnPolicy }: Config): string {
  const hash = createHash('sha256').update(style).digest('base64')
  const sheet = sourcesOf(brand.stylesheetUrl)
  const rows = [
    ['default-src', "'none'"],
    ['style-src', `'sha256-${hash}'`, ...sheet],
    ['img-src', ...sourcesOf(brand.logoUrl, brand.logoDarkUrl, brand.stylesheetUrl)],
    ['font-src', ...sheet],
    ['form-action', "'self'", new URL(ssoUrl).origin, returnPolicy.origin, ...returnPolicy.trustedOrigins],
    ['base-uri', "'none'"],
    ['frame-ancestors', "'none'"],
  ]
  const filled = rows.filter((row) => row.length > 1)
  return filled.map((row) => [...new Set(row)].join(' ')).join('; ')
}

/** Returns the origins of addresses as sources of a policy. A path has the origin of the page. */
const sourcesOf = (...addresses: (string | undefined)[]) =>
  addresses
    .filter((address) => address !== undefined)
    .map((address) => (address.startsWith('/') ? "'self'" : new URL(address).origin))
