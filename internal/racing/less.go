package racing

// Less gives a number of repetitions: n, or a part of it under the race detector.
func Less(n, part int) int {
	if On {
		return max(1, n/part)
	}
	return n
}
