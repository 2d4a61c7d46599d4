import type { History } from './entries'
import { countPromises } from './promises-counts'
import { dataPromises } from './promises-data'
import { servicePromises } from './promises-service'
import { whoPromises } from './promises-who'
import { HistoryView, type Promised } from './view'

/** A promise that was broken, and how. */
export interface Violation {
  readonly promise: string
  readonly text: string
}

/** All promises that a history is judged by. Each has a name, and what it means here. */
const promises: Readonly<Record<string, Promised>> = {
  ...whoPromises,
  ...dataPromises,
  ...countPromises,
  ...servicePromises,
}

export function judge(history: History): Violation[] {
  const view = new HistoryView(history)
  return Object.entries(promises).flatMap(([promise, find]) => find(view).map((text) => ({ promise, text })))
}
