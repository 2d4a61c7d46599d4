import { answerRules } from './answers'
import type { Check } from './check'
import { errorRules } from './errors'
import { identifyRules } from './identify'
import { requestTokenRules } from './request-tokens'
import { restRules } from './rest'
import { transitionRules } from './transitions'

/** Every rule of the specification, one check each. */
export const rules: Check[] = [
  ...requestTokenRules,
  ...answerRules,
  ...transitionRules,
  ...errorRules,
  ...identifyRules,
  ...restRules,
]
