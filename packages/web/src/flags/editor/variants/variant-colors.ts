const variantColors = ['#4263eb', '#0c8599', '#9c36b5', '#2f9e44', '#e8590c', '#c2255c', '#5f3dc4', '#7048e8']

/** The color of a variant by its position, the same wherever the variant appears. */
export const variantColor = (index: number): string => variantColors[index % variantColors.length] as string

/** On and off of a boolean flag. Off is gray: it is the absence of a value. */
export const onColor = '#2f9e44'
export const offColor = '#868e96'
