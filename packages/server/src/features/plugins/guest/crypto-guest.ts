import type { GuestHost } from '../../../sandbox/guest.ts'
import type { GuestEnvironment } from './guest-environment.ts'

/** The part of Node's `crypto` that plugins use: hashes and random values, computed outside of the realm. */
export function cryptoGuest(host: GuestHost, environment: GuestEnvironment): void {
  const toBase64 = (data: unknown, encoding = 'utf8'): string => {
    if (ArrayBuffer.isView(data)) {
      const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''))
    }
    return host.compute('encode', String(data), encoding, 'base64') as string
  }
  const toBytes = (base64: string) => Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  const output = (base64: string, encoding?: string) =>
    encoding === undefined ? toBytes(base64) : host.compute('encode', base64, 'base64', encoding)

  const digester = (finish: (data: string) => string) => {
    let data = ''
    const self = {
      update(more: unknown, encoding?: string) {
        data += atob(toBase64(more, encoding))
        return self
      },
      digest: (encoding?: string) => output(finish(btoa(data)), encoding),
    }
    return self
  }
  const crypto = {
    createHash: (algorithm: string) => digester(data => host.compute('hash', algorithm, data) as string),
    createHmac: (algorithm: string, key: unknown) =>
      digester(data => host.compute('hmac', algorithm, toBase64(key), data) as string),
    randomUUID: () => host.compute('randomUUID'),
    randomBytes: (size: number) => toBytes(host.compute('randomBytes', size) as string),
  }
  environment.modules.crypto = crypto
}
