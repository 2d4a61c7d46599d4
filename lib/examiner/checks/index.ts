/** Lists all checks, in the order of the report. */
import type { Check } from '../check'
import { callChecks } from './calls'
import { identifyChecks } from './identify'
import { keptFailure } from './kept-failures'
import { spoiltTokenChecks } from './landing'
import { landingFlowChecks } from './landing-flows'
import { landingOtherChecks } from './landing-others'
import { loginChecks } from './login'
import { loginErrorChecks } from './login-errors'
import { logoutChecks } from './logout'
import { clockChecks, headerChecks } from './others'
import { outageCells } from './outage'
import { outageSiteChecks } from './outage-site'
import { escapedName, tokensStayOnServer } from './output'
import { revalidation, spellings } from './pages'
import { noLoop } from './refusals'
import { restChecks } from './rest'
import { sessionChecks } from './session'
import { statusChecks } from './status'
import { ticketChecks } from './ticket'

export const allChecks: readonly Check[] = [
  ...identifyChecks,
  noLoop,
  ...spoiltTokenChecks,
  ...landingOtherChecks,
  ...landingFlowChecks,
  ...ticketChecks,
  ...statusChecks,
  ...loginChecks,
  ...loginErrorChecks,
  ...logoutChecks,
  ...sessionChecks,
  spellings,
  revalidation,
  escapedName,
  tokensStayOnServer,
  ...outageCells,
  ...outageSiteChecks,
  ...clockChecks,
  ...headerChecks,
  keptFailure,
  ...restChecks,
  ...callChecks,
]
