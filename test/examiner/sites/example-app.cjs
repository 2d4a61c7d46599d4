/** The Morning Post of the example, against the platform that the environment names. */
const { createSite } = require('../../../example-app/site.js')
const newspapers = require('../../../example-app/newspapers.js')

const { env } = process
const { app } = createSite({
  paper: newspapers.morning,
  url: env.SSO2_SITE_URL,
  sister: { name: newspapers.evening.name, url: 'http://evening.localhost' },
  platform: {
    ssoUrl: env.SSO2_URL,
    apiUrl: env.SSO2_API_URL,
    tokenUrl: env.SSO2_TOKEN_URL,
    portalUrl: env.SSO2_API_URL,
    organisationId: env.SSO2_ORGANISATION_ID,
  },
  client: { clientId: env.SSO2_CLIENT_ID, clientSecret: env.SSO2_CLIENT_SECRET },
  sessionSecret: env.SSO2_SESSION_SECRET,
  campaigns: [{ productCode: 'examined-campaign', name: 'Examined campaign' }],
})
app.listen(env.PORT)
