/** Makes readable colours from the colour of a site, by the contrast of WCAG 2. Pure. */

/** WCAG AA for text, and for the edges of controls. */
export const TEXT_CONTRAST = 4.5
/** @see {@link TEXT_CONTRAST} */
export const EDGE_CONTRAST = 3

/** Is the text a colour in the form `#rgb` or `#rrggbb`? */
export const isColor = (text: string): boolean => /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)

type Channels = readonly [red: number, green: number, blue: number]

/** Returns the channels, from 0 to 255. @param color `#rgb` or `#rrggbb` */
function channelsOf(color: string): Channels {
  const digits = color.length === 4 ? color.slice(1).replace(/./g, '$&$&') : color.slice(1)
  const at = (index: number) => Number.parseInt(digits.slice(index, index + 2), 16)
  return [at(0), at(2), at(4)]
}

const hexColor = (channels: Channels) => `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`

/** Returns the relative luminance, 0 for black to 1 for white. */
function luminanceOf(color: string): number {
  const [red, green, blue] = channelsOf(color).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast of two colours, 1 to 21, in any order. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

const STEPS = 64

function mixedColor(color: string, end: string, steps: number): string {
  const [from, to] = [channelsOf(color), channelsOf(end)]
  const mixed = from.map((value, index) => Math.round(value + (((to[index] ?? 0) - value) * steps) / STEPS))
  return hexColor(mixed as unknown as Channels)
}

/**
 * Returns the colour itself if the contrast with all backgrounds is sufficient. Otherwise returns the nearest sufficient colour
 * towards black or white.
 * @param grounds all light or all dark
 * @returns `#rrggbb`. The contrast is insufficient only if black and white are insufficient too.
 */
function readableColor(color: string, grounds: readonly string[], least: number): string {
  const worst = (candidate: string) => Math.min(...grounds.map((ground) => contrast(candidate, ground)))
  const end = worst('#000000') > worst('#ffffff') ? '#000000' : '#ffffff'
  for (let steps = 0; steps < STEPS; steps += 1) {
    const candidate = mixedColor(color, end, steps)
    if (worst(candidate) >= least) return candidate
  }
  return end
}

/** Colours that are derived from the site's colour. */
export interface Accent {
  /** The colour itself, as background of buttons. */
  readonly brand: string
  readonly onBrand: string
  /** Edge of a button, visible on any background. */
  readonly brandEdge: string
  /** Links, and the ring around the element with the focus. */
  readonly link: string
}

/**
 * Returns the colours of a scheme, light or dark.
 * @param grounds backgrounds of page and card
 * @param linkContrast of links on the backgrounds, at least that of text
 */
export function accentOf(color: string, grounds: readonly string[], linkContrast: number): Accent {
  const brand = hexColor(channelsOf(color))
  return {
    brand,
    onBrand: contrast(brand, '#ffffff') >= TEXT_CONTRAST ? '#ffffff' : '#000000',
    brandEdge: readableColor(brand, grounds, EDGE_CONTRAST),
    link: readableColor(brand, grounds, linkContrast),
  }
}
