import type { CatalogEntry } from '@halyard/contract'
import { npmPageUrl } from '../package/plugin-address.ts'

/**
 * Plugins that are known to work here. The first eight are the ones that PostHog published to npm and that still can
 * be installed; the others are our own examples, which come with Halyard as folders of the plugin directory.
 */
export const catalog: readonly CatalogEntry[] = [
  npm(
    'GeoIP',
    '@posthog/geoip-plugin',
    'data_in',
    'Adds the place of an IP address to events and persons.',
    'A city database on the server, named in HALYARD_GEOIP_DATABASE.',
  ),
  npm(
    'PostHog Heartbeat Plugin',
    '@posthog/heartbeat-plugin',
    'data_in',
    'Captures an event every minute, to show that ingestion works.',
  ),
  npm(
    'Property Filter',
    '@posthog/property-filter-plugin',
    'ingestion_filtering',
    'Removes chosen properties from every event.',
  ),
  npm(
    'Property Flattener Plugin',
    '@posthog/property-flattener-plugin',
    'data_in',
    'Copies nested properties to the top level, where filters reach them.',
  ),
  npm(
    'posthog-semver-flattener',
    '@posthog/semver-flattener-plugin',
    'data_in',
    'Splits version numbers into major, minor, patch and the rest.',
  ),
  npm(
    'Posthog Shopify Plugin',
    '@posthog/shopify-sync-plugin',
    'data_in',
    'Brings customers and orders of a Shopify store in as events.',
    'The store’s API key, and its host in allowedHosts of plugin.json: the published one asks for none.',
  ),
  npm('Taxonomy Plugin', '@posthog/taxonomy-plugin', 'data_in', 'Gives all event names one way of writing.'),
  npm(
    'User Agent Populator',
    '@posthog/user-agent-app',
    'data_in',
    'Reads browser and system out of the user agent text.',
  ),
  own(
    'Flag changes to chat',
    'flag-chat',
    'Posts every flag change to a chat webhook, with before and after.',
    'The address of a webhook, and its host granted.',
  ),
  own('Flag guardrails', 'flag-guardrails', 'Refuses flags without an owner tag and rollouts that jump too far.'),
  own(
    'Flag history file',
    'flag-history',
    'Keeps all flags as a text file that git can follow, and sends it on.',
    'For sending: an address that takes the file, its token, and its host granted.',
  ),
]

/** By the plugin's name or by the name of its package. */
export function findInCatalog(name: string): CatalogEntry | undefined {
  const wanted = name.trim().toLowerCase()
  return catalog.find(
    entry => entry.name.toLowerCase() === wanted || entry.url === npmPageUrl(wanted) || entry.url === `file:${wanted}`,
  )
}

function npm(name: string, packageName: string, type: string, description: string, needs = ''): CatalogEntry {
  const url = npmPageUrl(packageName)
  return { name, url, description, verified: true, maintainer: 'community', type, displayOnWebsiteLib: true, needs }
}

function own(name: string, folder: string, description: string, needs = ''): CatalogEntry {
  const url = `file:${folder}`
  const kind = { verified: true, maintainer: 'official', type: 'flags', displayOnWebsiteLib: false } as const
  return { name, url, description, needs, ...kind }
}
