import type { Subject } from './definition.ts'

/** Longer ids are truncated, as in PostHog. */
const idCharactersMax = 200

export const truncatedId = (id: string): string =>
  id.length <= idCharactersMax ? id : [...id].slice(0, idCharactersMax).join('')

type Properties = NonNullable<Subject['personProperties']>

/** The device is also a property of the person, so that a stored one does not count when the request names another. */
export const withDeviceId = (properties: Properties, deviceId: string | undefined): Properties =>
  deviceId === undefined || Object.hasOwn(properties, '$device_id')
    ? properties
    : { ...properties, $device_id: deviceId }
