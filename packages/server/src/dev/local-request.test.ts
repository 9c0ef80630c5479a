import { expect, it } from 'vitest'
import { isLocalRequest } from './local-request.ts'

it.each([
  ['127.0.0.1:8000', undefined, true],
  ['localhost:8000', 'http://app.localhost:3000', true],
  ['[::1]:8000', 'http://[::1]:3000', true],
  ['127.0.0.1:8000', 'https://elsewhere.example', false],
  ['127.0.0.1:8000', 'null', false],
  // A name that its owner points to this machine.
  ['elsewhere.example:8000', undefined, false],
  ['127.0.0.1.elsewhere.example', undefined, false],
  [undefined, undefined, false],
])('host %s, origin %s: %s', (host, origin, expected) => {
  expect(isLocalRequest({ host, origin }, '127.0.0.1')).toBe(expected)
})

it('accepts any name when it listens to the network, and still no page of another site', () => {
  expect(isLocalRequest({ host: 'host.docker.internal:8000' }, '0.0.0.0')).toBe(true)
  expect(isLocalRequest({ host: 'flags.test', origin: 'https://elsewhere.example' }, '0.0.0.0')).toBe(false)
})
