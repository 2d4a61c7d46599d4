/** `sso.health()`: the known state of the systems that a site depends on. */
import { type Health, healthOf } from '../decide/health'
import { NO_ANSWER } from '../log/redis-failure-advice'
import { unlessUnavailable } from '../storage/site-store'
import type { Site } from './site'

/** Probes the session store, and reports the known state of the other systems. */
export async function health({ client, config, identifyHealth, exchangeHealth, records }: Site): Promise<Health> {
  const isStored = await unlessUnavailable(() => records.probe().then(() => true), false)
  return healthOf({
    isSsoAvailable: identifyHealth.isAvailable,
    storeReason: isStored ? undefined : (records.failure ?? NO_ANSWER),
    canLogIn: exchangeHealth.isAvailable,
    clockOffsetSeconds: client.clockOffsetSeconds,
    clockToleranceSeconds: config.clockToleranceSeconds,
  })
}
