#!/usr/bin/perl
# A consumer in Perl, written after PROTOCOL.md alone.
use strict;
use warnings;
use JSON::PP;
use POSIX ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
$| = 1;

my %reads = (
    effective_date => sub {
        my ($text) = @_;
        return undef if $text eq '';
        $text =~ /\A(\d{4})-(\d\d)-(\d\d)\z/a or die "no date\n";
        return "date:$1-$2-$3";
    },
    number => sub { warn "reading\n"; return $_[0] },
);

sub offset { my ($s) = @_; return POSIX::mktime(localtime $s) - POSIX::mktime(gmtime $s) }

while (my $line = <STDIN>) {
    my $message = eval { $json->decode($line) };
    if (!$message) {
        print $json->encode({ id => undef, error => "$@" }), "\n";
    } elsif ($message->{start}) {
        my @offsets = map { offset($_ / 1000) } @{ $message->{instants} };
        print $json->encode({ ready => 1, version => '0.3', reads => [ sort keys %reads ], now => time * 1000,
            runtime => "perl $^V", offsets => \@offsets }), "\n";
    } elsif ($message->{stop}) {
        exit 0;
    } elsif (my $parse = $reads{ $message->{read} }) {
        my @answers;
        for my $text (@{ $message->{values} }) {
            my $value = eval { $parse->($text) };
            push @answers, $@ ? { rejected => "$@" =~ s/\n//r } : $value;
        }
        print $json->encode({ id => $message->{id}, values => \@answers }), "\n";
    } else {
        print $json->encode({ id => $message->{id}, error => "no field $message->{read}" }), "\n";
    }
}
