import type { Scenario } from '../scenario'
import { answers } from './answers'
import { calls } from './calls'
import { cookies } from './cookies'
import { data } from './data'
import { endings } from './endings'
import { identifiers } from './identifiers'
import { mounting } from './mounting'
import { outages } from './outages'
import { parallel } from './parallel'
import { sockets } from './sockets'

export const scenarios: readonly Scenario[] = [
  ...data,
  ...calls,
  ...endings,
  ...cookies,
  ...identifiers,
  ...parallel,
  ...answers,
  ...mounting,
  ...sockets,
  ...outages,
]
