/** The built-in pages of one site: their views and their policy, made once. */
import type { Config } from '../../config'
import type { BuiltInPages } from '../site'
import { contentSecurityPolicy, DEFAULT_COLOR, styleIn } from './style'
import { builtInViews } from './views'

/** @see the head of the file */
export function builtInPages(config: Config): BuiltInPages {
  const { brand, ssoUrl, returnPolicy } = config
  const style = styleIn(brand.color ?? DEFAULT_COLOR)
  const formTargets = [new URL(ssoUrl).origin, returnPolicy.origin, ...returnPolicy.trustedOrigins]
  const { logoUrl, stylesheetUrl } = brand
  return {
    views: builtInViews(config, style),
    policy: contentSecurityPolicy(style, { logoUrl, stylesheetUrl, formTargets }),
  }
}
