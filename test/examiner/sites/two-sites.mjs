/** The example with two papers: the examined one is the Morning Post. The second has a client of its own that is never used. */
const { env } = process
const evening = env.SSO2_SITE_URL.replace('morning', 'evening')
Object.assign(env, {
  MORNING_SITE_URL: env.SSO2_SITE_URL,
  MORNING_CLIENT_ID: env.SSO2_CLIENT_ID,
  MORNING_CLIENT_SECRET: env.SSO2_CLIENT_SECRET,
  EVENING_SITE_URL: evening,
  EVENING_CLIENT_ID: 'evening',
  EVENING_CLIENT_SECRET: 'a-client-secret-of-the-evening-star',
})
await import('../../../examples/two-sites/site.mjs')
