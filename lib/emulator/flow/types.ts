/** Defines a flow: the requests and responses between a browser, the sites and the platform, in order. */

/** The browser, a site or the platform. */
export interface FlowParticipant {
  /** `browser`, `platform`, or the client ID of a site. */
  readonly id: string
  /** Name for people. */
  readonly name: string
}

/** A step of a flow. */
export interface FlowStep {
  /** Time by the emulator's clock, in milliseconds. */
  readonly atMs: number
  /** ID of the participant that sends. */
  readonly from: string
  /** ID of the participant that receives. */
  readonly to: string
  /** Name of the message, such as `Session Status` or `logged in`. */
  readonly name: string
  /** Claims of the token that is sent. Passwords and tickets are masked. */
  readonly claims: Readonly<Record<string, string | number | boolean | null>>
  /** `refused`: a rule of the interface was broken. `fault`: a fault was switched on, or the response is missing. */
  readonly verdict: 'ok' | 'refused' | 'fault'
  /** Time until this response, in milliseconds. */
  readonly durationMs?: number
  /** The requirement of the interface that explains a refusal or a fault. */
  readonly requirement?: string
}

/** The steps of a session or of a browser. `String(flow)` is text for a failed assertion. */
export interface Flow {
  /** Subject of the flow, for a heading. */
  readonly title: string
  /** From left to right in the diagram: the browser, each site, the platform. */
  readonly participants: readonly FlowParticipant[]
  /** Oldest first. */
  readonly steps: readonly FlowStep[]
  /** Returns the flow as text, a line for each step. */
  toString(): string
}
