import { Problem } from '../../problem.ts'

/** Values of `scimType` (RFC 7644, section 3.12). */
type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget'

/** Wrong input. The code of the problem becomes `scimType`. */
export const scimInvalid = (type: ScimType, attribute: string | null, message: string): Problem =>
  new Problem('invalid', message, { code: type, field: attribute })

export const scimTaken = (attribute: string, message: string): Problem =>
  new Problem('conflict', message, { code: 'uniqueness', field: attribute })
