import { startAuthentication, startRegistration } from '@simplewebauthn/browser'

/** Browsers bind passkeys to a domain name: with an IP address, or without TLS, there are none. */
export const hasPasskeys = (): boolean =>
  window.PublicKeyCredential !== undefined && !/^[\d.]+$|^\[/.test(window.location.hostname)

type Options = Record<string, unknown>
type Passkey = Record<string, unknown>

/** Undefined when the user dismissed the browser's dialog, or the browser has no passkey for this address. */
const unlessDismissed = async (asked: Promise<unknown>): Promise<Passkey | undefined> => {
  try {
    return (await asked) as Passkey
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

export const getPasskey = (options: Options): Promise<Passkey | undefined> =>
  unlessDismissed(startAuthentication({ optionsJSON: options as never }))

export const createPasskey = (options: Options): Promise<Passkey | undefined> =>
  unlessDismissed(startRegistration({ optionsJSON: options as never }))
