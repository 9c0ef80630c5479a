import { writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../../../../config.ts'
import { type MmdbOptions, makeMmdb, writeMmdb } from '../../../../testing/mmdb-builder.ts'
import { startScenario } from '../../../../testing/scenario.ts'
import { openGeoip } from './geoip.ts'

const networks = {
  '1.2.3.0/24': {
    country: { iso_code: 'AU', is_in_european_union: false, names: { en: 'Australia', 'pt-BR': 'Austrália' } },
    location: { accuracy_radius: 1000, latitude: -33.5, longitude: 143, time_zone: 'Australia/Sydney' },
    subdivisions: [{ iso_code: 'NSW', geoname_id: 2155400 }],
    traits: { organization: 'x'.repeat(100) },
  },
  '200.1.1.1/32': { city: { names: { en: 'Far' } } },
}

let file: ReturnType<typeof writeMmdb> | undefined
afterEach(() => {
  file?.remove()
  file = undefined
})

function written(options: MmdbOptions = {}): string {
  file = writeMmdb(networks, options)
  return file.path
}

function writtenBytes(bytes: Uint8Array): string {
  const path = written()
  writeFileSync(path, bytes)
  return path
}

describe.each([4, 6] as const)('a database of IPv%i', ipVersion => {
  test('has records, with keys in camel case', async () => {
    const locate = await openGeoip(written({ ipVersion }))
    expect(locate('1.2.3.4')).toEqual({
      country: { isoCode: 'AU', isInEuropeanUnion: false, names: { en: 'Australia', 'pt-BR': 'Austrália' } },
      location: { accuracyRadius: 1000, latitude: -33.5, longitude: 143, timeZone: 'Australia/Sydney' },
      subdivisions: [{ isoCode: 'NSW', geonameId: 2155400 }],
      traits: { organization: 'x'.repeat(100) },
    })
    expect(locate('::ffff:1.2.3.255')).toEqual(locate('1.2.3.0'))
    expect(locate('200.1.1.1')).toEqual({ city: { names: { en: 'Far' } } })
  })

  test.each(['1.2.4.0', '200.1.1.2', '127.0.0.1', '102:300::', '2001:db8::1', '', 'nonsense', '1.2.3', '1.2.3.256'])(
    'knows nothing of "%s"',
    async address => {
      const locate = await openGeoip(written({ ipVersion }))
      expect(locate(address)).toBeNull()
    },
  )
})

describe('what cannot be opened is refused in a sentence', () => {
  const refusal = async (path: string) => {
    const error = await openGeoip(path).catch(error => error)
    expect(error).toBeInstanceOf(ConfigError)
    return error.message as string
  }
  const whole = makeMmdb(networks)

  test('a file that is not there', async () => {
    expect(await refusal('/nowhere/city.mmdb')).toMatch(
      /^HALYARD_GEOIP_DATABASE: the file cannot be read \(ENOENT.*nowhere/,
    )
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello '.repeat(100))],
    ['a beginning', whole.subarray(0, whole.length / 2)],
    ['an end', whole.subarray(whole.length / 2)],
    ['a description without its end', whole.subarray(0, whole.length - 20)],
  ])('a file that holds %s', async (_name, bytes) => {
    expect(await refusal(writtenBytes(bytes))).toContain("is damaged, or not a database in MaxMind's format")
  })

  test('a database of something else', async () => {
    expect(await refusal(written({ databaseType: 'GeoLite2-ASN' }))).toContain('of type GeoLite2-ASN, not a city')
  })

  test('and Halyard does not start', async () => {
    const environment = { HALYARD_GEOIP_DATABASE: '/nowhere/city.mmdb' }
    await expect(startScenario('sqlite', { environment, databaseUrl: 'sqlite::memory:' })).rejects.toThrow(
      'HALYARD_GEOIP_DATABASE',
    )
  })
})

test('the database that the setting names is the one that plugins ask', async () => {
  const s = await startScenario('sqlite', { environment: { HALYARD_GEOIP_DATABASE: written() } })
  try {
    const { id: plugin } = (await s.post(`${s.organization}/plugins/`, {})).body
    await s.patch(`${s.organization}/plugins/${plugin}/update_source/`, {
      'plugin.json': '{"name": "Where"}',
      'index.ts': `export async function processEvent(event, { geoip }) {
        event.properties.country = (await geoip.locate(event.ip))?.country.isoCode
        return event
      }`,
    })
    await s.post(`${s.project}/plugin_configs/`, { plugin, enabled: true })
    const project = await s.halyard.database.read(tx => tx.projects.find(s.projectId))
    const event = {
      uuid: '01a1dd5c-4a05-79f8-af16-7dd175c73f78',
      name: 'x',
      distinctId: 'd',
      properties: {},
      at: project!.createdAt,
      ip: '1.2.3.4',
    }
    const kept = await s.halyard.plugins.runtime.events.transform(project!, event)
    expect(kept?.properties).toMatchObject({ country: 'AU' })
  } finally {
    await s.close()
  }
})
