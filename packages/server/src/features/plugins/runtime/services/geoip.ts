import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { type CityResponse, Reader } from 'mmdb-lib'
import { ConfigError } from '../../../../config.ts'

/**
 * Where an IP address is, or null when it is unknown. It is the database's record with its keys in camel case
 * (`country.isoCode`, `location.timeZone`), which is how plugins written for PostHog read it.
 */
export type Locate = (address: string) => Readonly<Record<string, unknown>> | null

/** Without a database the result is null rather than an error, so that events pass the plugin. */
export const locateNothing: Locate = () => null

/** Reads a city database in MaxMind's format into memory. Raises ConfigError when that cannot be done. */
export async function openGeoip(path: string | undefined): Promise<Locate> {
  if (path === undefined) return locateNothing
  const bytes = await readFile(path).catch((error: Error) => {
    throw fault(`the file cannot be read (${error.message})`)
  })
  const reader = openReader(path, bytes)
  const { ipVersion } = reader.metadata
  return address => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
    const version = isIP(plain)
    // The reader would look an IPv6 address up in an IPv4 tree by its first bits, and find something.
    if (version === 0 || version > ipVersion) return null
    const record = reader.get(plain)
    return record && (camelCased(record) as Record<string, unknown>)
  }
}

const metadataMarker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')

function openReader(path: string, bytes: Buffer): Reader<CityResponse> {
  // It is at the end of the file: an incomplete download has none.
  const metadataAt = bytes.lastIndexOf(metadataMarker)
  const reader = metadataAt < 0 ? undefined : tryReader(bytes)
  if (!reader || !(reader.metadata.searchTreeSize < metadataAt))
    throw fault(`${path} is damaged, or not a database in MaxMind's format (.mmdb)`)
  const { databaseType } = reader.metadata
  if (!/city|enterprise/i.test(databaseType)) throw fault(`${path} is of type ${databaseType}, not a city database`)
  return reader
}

function tryReader(bytes: Buffer): Reader<CityResponse> | undefined {
  try {
    return new Reader(bytes)
  } catch {
    return undefined
  }
}

const fault = (sentence: string): ConfigError => new ConfigError(`HALYARD_GEOIP_DATABASE: ${sentence}.`)

function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased)
  // JSON, which is how values reach a plugin, has no such integers.
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  const pairs = Object.entries(value).map(([key, inner]) => [camelCase(key), camelCased(inner)])
  return Object.fromEntries(pairs)
}

const camelCase = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
