/** Nothing else runs in this process for so many milliseconds. */
export function standStill(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}
