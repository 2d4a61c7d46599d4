/** Facts of the sites that single checks are tried on. */
const factsOf = (url) => ({
  url,
  publicPage: `${url}/`,
  userPage: `${url}/`,
  loginPage: `${url}/login`,
  usernameField: 'username',
  passwordField: 'password',
  returnField: 'next',
  logout: { page: `${url}/`, action: `${url}/logout`, method: 'POST' },
  logoutAll: { page: `${url}/`, action: `${url}/logout-all`, method: 'POST' },
  landing: `${url}/sso2/landing`,
  isIdentifiedAlways: true,
})

module.exports = { factsOf }
