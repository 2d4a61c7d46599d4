declare module 'cluster-key-slot' {
  /** Slot of a key in a Cluster. */
  function calculateSlot(key: string): number
  export = calculateSlot
}
