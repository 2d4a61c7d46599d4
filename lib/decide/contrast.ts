/** Makes readable colours from the colour of a site, by the contrast of WCAG 2. Pure. A colour is `#rgb` or `#rrggbb`. */

/** WCAG AA for text, and for the edges of controls. */
export const TEXT_CONTRAST = 4.5
/** @see {@link TEXT_CONTRAST} */
export const EDGE_CONTRAST = 3

/** Returns red, green and blue, from 0 to 255. */
function channelsOf(color: string): number[] {
  const digits = color.length === 4 ? color.slice(1).replace(/./g, '$&$&') : color.slice(1)
  return [0, 2, 4].map((index) => Number.parseInt(digits.slice(index, index + 2), 16))
}

/** Returns the relative luminance, 0 for black to 1 for white. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast of two colours, 1 to 21, in any order. */
export function contrast(one: string, other: string): number {
  const [first, second] = [luminanceOf(one), luminanceOf(other)]
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}

const STEPS = 64

/**
 * Returns the colour itself if its contrast with all backgrounds is sufficient. Otherwise returns the nearest sufficient colour towards
 * black or white.
 * @param grounds all light or all dark
 */
export function readableColor(color: string, grounds: readonly string[], least: number): string {
  const end = grounds.every((ground) => contrast(ground, '#000000') > contrast(ground, '#ffffff')) ? 0 : 255
  const mixed = (share: number) => channelsOf(color).map((value) => Math.round(value + (end - value) * share))
  const candidates = Array.from({ length: STEPS + 1 }, (_, step) => hexColor(mixed(step / STEPS)))
  return candidates.find((candidate) => grounds.every((ground) => contrast(candidate, ground) >= least)) ?? color
}

const hexColor = (channels: number[]) => `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`
