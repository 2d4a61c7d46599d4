/** An address as a configuration may hold it, and whether it is taken, outside production and in it. */
export interface AddressCase {
  url: string
  development: boolean
  production: boolean
}

const taken = (url: string): AddressCase => ({ url, development: true, production: true })
const local = (url: string): AddressCase => ({ url, development: true, production: false })
const refused = (url: string): AddressCase => ({ url, development: false, production: false })

export const addressCases: AddressCase[] = [
  taken('https://sso.example'),
  taken('https://sso.example:8443'),
  taken('https://sso.example/base/path'),
  taken('https://sso.example/base/'),
  taken('HTTPS://SSO.EXAMPLE'),
  taken('https://localhost:4000'),
  local('http://localhost:4000'),
  local('http://sso.localhost'),
  local('http://127.0.0.1:4000/sso'),
  local('http://127.1.2.3'),
  local('http://[::1]:4000'),
  local('http://LOCALHOST'),
  local('http://2130706433'),
  refused('http://sso.example'),
  refused('http://localhost.example'),
  refused('http://notlocalhost'),
  refused('http://127.0.0.1.example'),
  refused('http://10.0.0.1'),
  refused('http://192.168.1.1'),
  refused('http://169.254.169.254'),
  refused('http://0.0.0.0'),
  refused('http://[::]'),
  refused('http://[fe80::1]'),
  refused('http://[::ffff:10.0.0.1]'),
  refused('https://user@sso.example'),
  refused('https://user:pass-word@sso.example'),
  refused('http://localhost@evil.example'),
  refused('http://localhost:pass-word@evil.example'),
  refused('https://sso.example/#fragment'),
  refused('https://sso.example/?tenant=1'),
  refused('ftp://sso.example'),
  refused('ws://localhost'),
  refused('file:///etc/passwd'),
  refused('javascript:alert(1)'),
  refused('data:text/html,x'),
  refused('blob:https://sso.example/x'),
  refused('sso.example'),
  refused('//sso.example'),
  refused('/sso'),
  refused('https://'),
  refused('https:// sso.example'),
  refused(''),
]
