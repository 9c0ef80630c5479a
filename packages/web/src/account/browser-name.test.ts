import { expect, it } from 'vitest'
import { browserName } from './browser-name.ts'

it.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox 140, Linux'],
  ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36 Edg/130.0', 'Edge 130, Windows'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) AppleWebKit/605 Version/18.1 Safari/605', 'Safari 18, macOS'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', ''],
])('names %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name)
})
