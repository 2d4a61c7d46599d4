import { answerRequirements } from './answers'
import type { Check } from './check'
import { errorRequirements } from './errors'
import { identifyRequirements } from './identify'
import { requestTokenRequirements } from './request-tokens'
import { restRequirements } from './rest'
import { transitionRequirements } from './transitions'

/** Every requirement of the specification, one check each. */
export const requirements: Check[] = [
  ...requestTokenRequirements,
  ...answerRequirements,
  ...transitionRequirements,
  ...errorRequirements,
  ...identifyRequirements,
  ...restRequirements,
]
