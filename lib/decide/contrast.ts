/** Colours that can be read, whatever colour a site gives itself: contrast as WCAG 2 counts it. Pure. */

/** WCAG AA for text, and for what shows where a control is. */
export const TEXT_CONTRAST = 4.5
/** @see {@link TEXT_CONTRAST} */
export const EDGE_CONTRAST = 3

/** Is this a colour that can be reckoned with: `#rgb` or `#rrggbb`? */
export const isColor = (text: string): boolean => /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)

type Channels = readonly [red: number, green: number, blue: number]

/** Channels from 0 to 255. @param color `#rgb` or `#rrggbb` */
function channelsOf(color: string): Channels {
  const digits = color.length === 4 ? color.slice(1).replace(/./g, '$&$&') : color.slice(1)
  const at = (index: number) => Number.parseInt(digits.slice(index, index + 2), 16)
  return [at(0), at(2), at(4)]
}

const textOf = (channels: Channels) => `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`

/** Relative luminance, 0 for black to 1 for white. */
function luminanceOf(color: string): number {
  const [red, green, blue] = channelsOf(color).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Contrast of two colours, 1 to 21, whichever of them is the ground. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

const STEPS = 64

/** The colour, moved by so many steps towards an end. */
function mixedColor(color: string, end: string, steps: number): string {
  const [from, to] = [channelsOf(color), channelsOf(end)]
  const mixed = from.map((value, index) => Math.round(value + (((to[index] ?? 0) - value) * steps) / STEPS))
  return textOf(mixed as unknown as Channels)
}

/**
 * The colour itself where it stands out from all the grounds, else the nearest one towards black or white that does.
 * @param grounds of one kind, all light or all dark
 * @returns `#rrggbb`; with less contrast than asked for only where even black or white has less
 */
export function standingOut(color: string, grounds: readonly string[], least: number): string {
  const worst = (candidate: string) => Math.min(...grounds.map((ground) => contrast(candidate, ground)))
  const end = worst('#000000') > worst('#ffffff') ? '#000000' : '#ffffff'
  for (let steps = 0; steps < STEPS; steps += 1) {
    const candidate = mixedColor(color, end, steps)
    if (worst(candidate) >= least) return candidate
  }
  return end
}

/** What is made of one colour. */
export interface Accent {
  /** The colour itself: a button's ground. */
  readonly brand: string
  /** Text on it. */
  readonly onBrand: string
  /** Its edge, so that it is seen on any ground. */
  readonly brandEdge: string
  /** Links, and the ring around what has the focus. */
  readonly link: string
}

/**
 * The colours of one scheme, light or dark.
 * @param grounds what the page and the card on it are painted with; @param linkContrast of links on them, at least that of text
 */
export function accentOf(color: string, grounds: readonly string[], linkContrast: number): Accent {
  const brand = textOf(channelsOf(color))
  return {
    brand,
    onBrand: contrast(brand, '#ffffff') >= TEXT_CONTRAST ? '#ffffff' : '#000000',
    brandEdge: standingOut(brand, grounds, EDGE_CONTRAST),
    link: standingOut(brand, grounds, linkContrast),
  }
}
