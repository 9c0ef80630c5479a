/** What Halyard accepts as values of its operators, so that anything else is refused with its place in the document. */

const fullVersion =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*)?(\+[\da-zA-Z-]+(\.[\da-zA-Z-]+)*)?$/

export const isFullVersion = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 256 && fullVersion.test(value)

const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4Range = new RegExp(`^${octet}(\\.${octet}){3}(/([12]?\\d|3[0-2]))?$`)
const ipv6Range = /^(?=[\da-f]*:)[\da-f:]+(\/(\d{1,2}|1[01]\d|12[0-8]))?$/i

export const isIpv4Range = (text: string): boolean => ipv4Range.test(text)
export const isCidr = (text: string): boolean => isIpv4Range(text) || ipv6Range.test(text)
