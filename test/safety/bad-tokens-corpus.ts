import type { BadToken, Target } from './bad-tokens'
import { badAnswers } from './bad-tokens-answers'
import { badClaims } from './bad-tokens-claims'
import { badShapes } from './bad-tokens-shape'
import { badSignatures } from './bad-tokens-signature'

/** Every token that must be refused as the answer that `target` describes. */
export function badTokens(target: Target): BadToken[] {
  return [...badSignatures(target), ...badShapes(target), ...badClaims(target), ...badAnswers(target)]
}
